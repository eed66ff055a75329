"""English messages: the sentence that has the value, what is stated around it, and the form of each app.

`{v}` is the value, `{c}` what the parameter is called, `{n}` who signs. No sentence has a date, a time or a figure.
"""

from language.names import words
from language.packs import of

FIRST_NAMES: list[str] = of("en").data["values"]["first_names"]

SENTENCES = {
    "person": (
        "The person to talk to is {v}.",
        "You can rely on {v}.",
        "Everything goes through {v} now.",
        "The one who knows all about it is {v}.",
        "I told you about {v}.",
    ),
    "company": (
        "I can only recommend {v}.",
        "The name is {v}.",
        "We ended up with {v}.",
        "It was all done by {v}.",
        "The people I meant are {v}.",
    ),
    "product": (
        "What I mean is {v}.",
        "Have a look for {v}.",
        "I was talking about {v}.",
        "What you want is {v}.",
        "Everybody here is happy with {v}.",
    ),
    "plate": ("The plate says {v}.", "The car has the plate {v}.", "The license plate is {v}.", "Look out for {v}."),
    "id_number": (
        "The {c} is {v}.",
        "Please keep this: {v}.",
        "Here is the {c}: {v}.",
        "For your records: {v}.",
        "It is filed under {v}.",
    ),
    "date": (
        "It is all set for {v}.",
        "We agreed on {v}.",
        "It has to be {v}.",
        "Please keep {v} free.",
        "The day we settled on is {v}.",
    ),
    "time": (
        "It starts at {v}.",
        "Please be ready at {v}.",
        "We said {v}.",
        "The time we settled on is {v}.",
        "It has to be {v}.",
    ),
    "moment": (
        "We agreed on this: {v}.",
        "It is all set now: {v}.",
        "Please note it down: {v}.",
        "Here is when it starts: {v}.",
    ),
    "city": (
        "We have settled on {v}.",
        "We all want to go to {v}.",
        "I keep dreaming of {v}.",
        "They have moved to {v} by now.",
        "This year everybody is coming to {v}.",
    ),
    "address": (
        "The new address is {v}.",
        "You will find us at {v}.",
        "Please send everything to {v}.",
        "The house is at {v}.",
    ),
    "location": (
        "We are all meeting at {v}.",
        "Come straight to {v}.",
        "You will find us at {v}.",
        "Everybody is going to {v}.",
        "The place I told you about is {v}.",
    ),
    "song": (
        "You have to listen to {v}.",
        "The song is called {v}.",
        "I can't stop humming {v}.",
        "They danced to {v} all evening long.",
    ),
    "singer": ("It is sung by {v}.", "I have become a fan of {v}.", "The voice you liked belongs to {v}."),
}
BEFORE = {
    "person": (
        "Good to hear that you want to take care of it.",
        "I asked around in the office.",
        "Sorry that I forgot to tell you.",
        "You asked me who could help you.",
    ),
    "company": (
        "You asked me who did such good work for us.",
        "We were really pleased with how it went.",
        "I found the card in my context after all.",
    ),
    "product": (
        "I finally remembered what it was called.",
        "You asked me what you should look for.",
        "We have been very happy with it at home.",
    ),
    "plate": (
        "You asked me which car it was.",
        "I took a careful look at the car in the yard.",
        "The car is parked in front of the house.",
    ),
    "id_number": (
        "Thank you for your trust.",
        "I looked through all of our papers.",
        "Everything is arranged for you.",
        "You wanted to have it in writing.",
    ),
    "date": (
        "I talked to everybody in the family.",
        "We finally found a day that suits us all.",
        "Thanks for being so patient with us.",
    ),
    "time": (
        "I asked the others again.",
        "Please don't be late, everybody is looking forward to it.",
        "It took a while, but it is decided.",
    ),
    "moment": (
        "I asked everybody again.",
        "It took a while, but it is decided.",
        "Thanks for being so patient with us.",
    ),
    "city": (
        "We talked about it for a long while.",
        "You asked me what we decided in the end.",
        "The children can hardly wait.",
    ),
    "address": ("Here it is, as promised.", "We have finally unpacked all of our boxes.", "You asked me for it again."),
    "location": (
        "It was so nice to talk to you.",
        "You asked me where we are going.",
        "The others have agreed as well.",
        "Parking is easy there, and it is quiet.",
    ),
    "song": (
        "I still hear that melody in my head.",
        "You asked me what they played at the party.",
        "This one is for you.",
    ),
    "singer": ("You asked me who that was.", "What a voice, I listened all evening."),
}
DIARY = (
    "Asked around today, and this is what I was told.",
    "Copied from the letter on my context.",
    "Finally decided after a long talk.",
    "Heard this on the phone from the office.",
    "The others agree with it as well.",
    "Checked it twice, it is correct.",
)
PUBLIC = (
    "So many of you have been asking.",
    "It took us a long while, but now it is official.",
    "What a wonderful week it has been!",
    "We are so happy with how it all went.",
    "I still can't believe it.",
)
AFTER = (
    "Let me know if anything is unclear.",
    "Say hello to everybody at home.",
    "I hope this helps you.",
    "Tell me how it went afterwards.",
    "Thanks again for your help.",
    "Please write it down, so that it does not get lost.",
    "Call me if you have any questions.",
    "I am glad that this is settled.",
)
FORMS = {
    "sms": ("Hi! {b} {s} {a}", "{b} {s} {a}", "Hey, just so you know. {b} {s} {a}"),
    "email": (
        "Hello,\n\n{b} {s}\n\n{a}\n\nBest wishes", "Hi there,\n\nI hope you are well. {b}\n\n{s} {a}\n\nKind regards",
        "Subject: What you asked me\n\nHello,\n\n{b} {s} {a}\n\nMany greetings",
    ),
    "instant_messaging": ("hey :) {b} {s} {a}", "Hi you! {b} {s} {a} 👍", "{b} {s} {a} 😊"),
    "social_media": (
        "{b} {s} What a joy! #goodnews #thankful", "Dear friends! {b} {s} Who else is excited? #cantwait",
        "Finally some good news. {b} {s} #happy",
    ),
    "notebook": (
        "Note to myself:\n- {b}\n- {s}\n- Do not lose this page!", "Not to forget:\n{b}\n{s}\nAsk the others what they think.",
        "{b}\n{s}\nLook at it again before leaving the house.", "- {s}\n- {b}\n- Tell the family about it.",
    ),
    "calendar": ("What was agreed:\n{s}\n{b}", "Remember:\n{b}\n{s}\nThe others know about it."),
    "voicemail": ("Hi, it's me. {b} {s} {a} Talk to you soon, bye!", "Hello, sorry that I missed you. {b} {s} {a} Bye!"),
    "photo_caption": ("{b} {s} What a beautiful moment, and what lovely light!",
        "Such a nice memory. {b} {s} I look at this picture again and again."),
}  # fmt: skip


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
