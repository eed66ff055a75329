"""The names of months, weekdays and relative days in both languages."""

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTH_NUMBERS = {
    **{name.lower(): number for number, name in enumerate(MONTHS, 1)},
    **{name.lower()[:3]: number for number, name in enumerate(MONTHS, 1)},
    "sept": 9,
}
MONTH_PATTERN = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
WEEKDAY_PATTERN = "|".join(f"{name.lower()}|{name.lower()[:3]}" for name in WEEKDAYS)
WEEKDAY_SHORT = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday",
}  # fmt: skip
ENGLISH_RELATIVE = (
    r"(?:the\s+)?day\s+(?:after\s+tomorrow|before\s+yesterday)|today|tonight|tomorrow|yesterday"
    r"|this\s+(?:morning|afternoon|evening)"
    r"|(?:(?:next|this|last|coming)\s+)?(?:"
    + "|".join(name.lower() for name in WEEKDAYS)
    + r"|mon|tues?|wed|thu(?:rs?)?|fri)"
    r"|(?:next|this|last)\s+(?:week(?:end)?|month|year)"
)
CHINESE_RELATIVE = (
    "大后天|大前天|后天|前天|明天|明日|昨天|昨日|今天|今日|今晚|明晚|昨晚|今早|明早"
    "|(?:上上|下下|上|下|这|本)?个?(?:周|星期|礼拜)[一二三四五六日天末]|(?:上|下|这|本)个?(?:周|星期|月)|今年|明年|去年"
)
