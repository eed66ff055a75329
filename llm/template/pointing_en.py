"""English phrases that point at a message: who it is from, what it is called by entity, and where it was told."""

from llm.template.phrases_en import FIRST_NAMES
from llm.template.word_lists import words

PEOPLE = (
    *words(
        "my sister|my brother|my mother|my father|my aunt|my uncle|my cousin|my landlord|my boss|my coworker|my roommate"
        "|my neighbor|my assistant|my teacher|my wife|my husband|my daughter|my son|our neighbor|our coach|our tour guide"
    ),
    *FIRST_NAMES,
)
NOUNS = {
    "person": words("person|contact"),
    "company": words("business|place|company"),
    "product": words("thing|item"),
    "plate": words("plate number|license plate"),
    "id_number": words("number|code"),
    "date": words("day|date"),
    "time": ["time"],
    "moment": words("date and time|day and time"),
    "city": words("city|place"),
    "address": ["address"],
    "location": words("place|spot|location"),
    "song": words("song|tune|piece"),
    "singer": words("singer|musician"),
}
OWN_NOUNS = words("restaurant|clinic|hotel|road|station|stop|beach|number|code")  # a parameter called so lends its name
ADJECTIVES = {
    "person": ["", "", "right", "friendly"],
    "company": ["", "", "little", "new"],
    "product": ["", "", "useful", "exact"],
    "plate": ["", "", "full"],
    "id_number": ["", "", "right"],
    "date": ["", "", "exact", "agreed"],
    "time": ["", "", "exact", "agreed"],
    "moment": ["", "", "exact", "agreed"],
    "city": ["", "", "lovely"],
    "address": ["", "", "new", "full", "exact"],
    "location": ["", "", "exact", "new", "lovely"],
    "song": ["", "", "lovely", "beautiful"],
    "singer": ["", "", "famous"],
}
WHERE = {
    "sms": (
        "in {n}'s text message", "from {n}'s text", "from the text message {n} sent me", "{n} mentioned in a text message",
        "mentioned in the text {n} sent me", "in the SMS from {n}",
    ),
    "email": (
        "in {n}'s email", "from the email {n} sent me", "{n} mentioned in an email", "mentioned in {n}'s email",
        "in the email from {n}",
    ),
    "instant_messaging": (
        "{n} mentioned in our chat", "from my chat with {n}", "{n} sent me in the chat", "in {n}'s chat message",
        "from the chat message {n} sent me",
    ),
    "social_media": (
        "in {n}'s post", "from {n}'s latest post", "{n} mentioned in a post", "in the post {n} shared",
        "from the post by {n}",
    ),
    "notebook": (
        "from my notes", "I wrote down in my notebook", "I saved in my notes", "in my notebook", "I jotted down in my notes",
    ),
    "calendar": ("in my calendar entry", "from the calendar invite {n} sent me", "in {n}'s calendar invite"),
    "voicemail": ("{n} mentioned on my voicemail", "from {n}'s voicemail", "{n} mentioned in a voicemail"),
    "photo_caption": ("in the caption of {n}'s photo", "from the caption {n} wrote", "in {n}'s photo caption"),
}  # fmt: skip
ELSEWHERE = ("in the message from {n}", "{n} mentioned in a message", "from {n}'s message")
