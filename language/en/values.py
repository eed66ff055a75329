"""English phrases for values: templates by kind, with slots in braces that name a list of words."""

from language.names import words

PLACES = words(
    "Berlin Hamburg Munich Cologne Vienna Graz Zurich Geneva Paris Lyon Marseille Nantes London Manchester"
    " Bristol Leeds Edinburgh Glasgow Dublin Cork Madrid Barcelona Valencia Seville Lisbon Porto Rome Milan Turin"
    " Naples Florence Athens Oslo Bergen Stockholm Copenhagen Aarhus Helsinki Tallinn Riga Vilnius Warsaw Prague"
    " Brno Budapest Bucharest Sofia Zagreb Ljubljana Istanbul Ankara Cairo Nairobi Accra Lagos Tokyo Osaka Kyoto"
    " Sapporo Seoul Busan Bangkok Hanoi Jakarta Manila Singapore Mumbai Delhi Chennai Sydney Melbourne Perth"
    " Brisbane Auckland Wellington Toronto Montreal Vancouver Calgary Ottawa Boston Chicago Denver Seattle"
    " Portland Austin Dallas Houston Atlanta Miami Phoenix Detroit Cleveland Pittsburgh Baltimore Santiago Lima"
    " Bogota Quito Montevideo Havana"
)
COUNTRIES = words(
    "Germany Austria France Spain Portugal Italy Greece Norway Sweden Denmark Finland Estonia Latvia Poland"
    " Hungary Romania Bulgaria Croatia Turkey Egypt Kenya Ghana Japan Thailand Vietnam Indonesia India Australia"
    " Canada Mexico Chile Peru Colombia Brazil Argentina Ireland Belgium Switzerland Iceland Malaysia"
)
FIRST_NAMES = words(
    "Alice Amir Anna Ben Carla Chloe Daniel Diana Elena Emma Erik Farid Fiona Gina Hannah Helen Ivan Jack Jasmin"
    " Julia Karim Kate Laura Leo Lena Lucas Maria Marta Mila Nadia Nina Noah Olga Omar Oscar Paula Peter Priya"
    " Rosa Ruth Sam Sara Simon Sofia Tara Theo Tina Tom Vera Victor Yara Zoe"
)
LAST_NAMES = words(
    "Adler Baker Becker Bell Berg Brandt Brooks Carter Castro Chandra Clarke Costa Dalton Davis Dubois Evans"
    " Fischer Fontaine Foster Garcia Gibson Grant Hansen Harper Haruno Hughes Jensen Kaplan Keller Khan Kowalski"
    " Larsen Lindgren Lopez Marino Martin Meyer Mitchell Moreau Morgan Nakamura Novak Okafor Olsen Parker Patel"
    " Petrov Quinn Ramos Rossi Santos Schmidt Silva Suzuki Turner Varga Wagner Walsh Weber Wright Young Zeller"
)
LISTS = {
    "colour": words("black white grey navy green red silver beige brown blue orange purple"),
    "trait": words(
        "compact foldable waterproof wireless lightweight second-hand wooden rechargeable portable noise-free"
    ),
    "thing": words(
        "headphones|backpack|desk lamp|coffee grinder|office chair|rain jacket|phone case|bookshelf|water bottle"
        "|yoga mat|keyboard|umbrella|suitcase|bicycle helmet|electric kettle|blender|tripod|running shoes"
        "|picture frame|tent|sleeping bag|toaster|wall clock|garden hose|tool box|blanket|board game|sketchbook"
        "|monitor stand|air fryer"
    ),
    "errand": words(
        "water the plants|call the plumber|renew the parking permit|return the library books"
        "|pay the electricity bill|pick up the dry cleaning|clean the balcony|back up the laptop"
        "|order printer paper|walk the dog|feed the neighbours cat|book a dental check-up"
        "|send the signed contract|buy stamps|change the bed sheets|defrost the freezer|post the parcel"
        "|check the tyre pressure|print the boarding passes|update the budget sheet|take out the recycling"
        "|fix the bike brakes|collect the spare keys|wrap the birthday present|charge the camera"
        "|proofread the report|sharpen the kitchen knives|descale the coffee machine|cancel the gym trial"
        "|measure the living room"
    ),
    "topic": words(
        "budget design marketing hiring safety security onboarding roadmap customer supplier quality travel"
        " garden recycling energy photography data product sales support training branding harvest neighbourhood"
    ),
    "gathering": words(
        "review|workshop|kick-off|planning session|retrospective|briefing|round table|open day|training"
        "|lunch talk|brainstorm|walkthrough|check-in|demo"
    ),
    "job": words(
        "teacher|software engineer|nurse|data analyst|architect|project manager|electrician|chef|accountant"
        "|product designer|sales manager|lab technician|graphic designer|carpenter|translator|store manager"
        "|paralegal|quality inspector"
    ),
    "rank": ["junior", "senior", "lead", "assistant", "deputy", "regional"],
    "fault": words(
        "makes a loud noise|does not turn on|keeps restarting|is leaking|smells of smoke|overheats|is stuck"
        "|flickers|shows a blank screen|stopped charging|rattles|trips the fuse|is very slow|loses its connection"
    ),
    "device": words(
        "washing machine|heating|router|front door lock|ceiling light|dishwasher|elevator|air conditioner|shower"
        "|printer|fridge|television|smoke detector|garage door|kitchen tap|coffee machine|window blind|doorbell"
    ),
    "change": words(
        "was moved to another week|was called off|no longer fits my plans|clashes with a family visit"
        "|got too expensive|is no longer needed|was booked twice|has to wait until spring"
        "|turned out to be the wrong one"
    ),
    "plan": words(
        "the trip|the meeting|the wedding|the conference|the appointment|the course|the concert|the delivery"
        "|the move|the contract|the project|the repair|the exam|the interview"
    ),
    "cook": ["grilled", "roasted", "spicy", "creamy", "vegan", "smoked", "baked", "homemade", "pickled", "steamed"],
    "dish": words(
        "salmon|noodles|pumpkin soup|lentil stew|mushroom risotto|chicken curry|tofu bowl|potato gratin"
        "|lamb chops|pancakes|aubergine|dumplings|shrimp tacos|tomato tart|bean chili|spinach lasagne"
    ),
    "mood": words(
        "Silver Golden Distant Quiet Broken Velvet Electric Crimson Hollow Endless Northern Paper Midnight Wild"
    ),
    "image": words(
        "River Mountain Lantern Horizon Garden Mirror Harbour Echo Meadow Compass Winter Thunder Orchard"
        " Lighthouse Desert"
    ),
    "quality": words(
        "cheap|quiet|family-friendly|highly rated|beginner|vintage|eco-friendly|modern|outdoor|vegetarian"
    ),
    "sought": words(
        "hiking boots|jazz bars|guitar lessons|coworking spaces|city tours|board games|camping gear"
        "|language courses|piano tutors|cooking classes|wall art|running routes|bakeries|science podcasts"
    ),
    "firm": words("Works Logistics Studio Foods Systems Partners Textiles Energy Media Robotics Labs Optics Trading"),
    "street": words(
        "Oak Street|Maple Avenue|Station Road|Mill Lane|Harbour Street|Church Road|Garden Row|Park Avenue"
        "|Hill Street|River Road|Cedar Lane|King Street|Victoria Road|Elm Street|Market Street|Linden Avenue"
        "|Bridge Street|Castle Road"
    ),
    "friend": FIRST_NAMES,
    "minutes": ["five", "ten", "fifteen", "twenty", "thirty", "forty"],
    "spot": words(
        "the main entrance|the station|the reception|the parking lot|the side door|the cafe|the bus stop|the lobby"
    ),
    "home": words(
        "a two-room flat|a terraced house|a corner shop|a small workshop|a studio apartment|a farmhouse|a food truck"
    ),
    "extra": words(
        "with a garden|near the station|with a new owner|under renovation|in a quiet street|with parking"
        "|on the ground floor|with two balconies"
    ),
}
TEMPLATES = {
    "company": ["{image} {firm}", "{mood} {image} {firm}", "{last} {firm}"],
    "reason": ["{plan} {change}"],
    "message": [
        "I will be {minutes} minutes late", "please wait for me at {spot}", "{friend} is bringing the {thing}",
        "can you {errand} for me", "see you at {spot}", "the {colour} {thing} is at {spot}", "thanks for the {dish}",
        "{friend} can {errand} on the way", "tell {friend} that the {thing} is at {spot}",
        "I left the {colour} {thing} at {spot}", "do not forget to {errand}", "{plan} {change}",
    ],
    "problem": ["the {device} {fault}"],
    "task": ["{errand}", "buy a {colour} {thing}", "show {friend} the {topic} sheet", "cook {cook} {dish}"],
    "title": ["{topic} {gathering}", "{friend} and the {topic} {gathering}", "spring {topic} {gathering}"],
    "job": ["{job}", "{rank} {job}"],
    "product": ["{colour} {thing}", "{trait} {thing}", "{trait} {colour} {thing}"],
    "food": ["{cook} {dish}"],
    "music": ["{mood} {image}"],
    "film": ["The {mood} {image}", "{image} of {place}"],
    "book": ["The {image} of {place}", "A {mood} {image}"],
    "query": ["{quality} {sought}", "{sought}"],
    "details": [
        "as agreed on the phone", "the same as last time", "see the attached letter", "{friend} knows about it",
        "everything else stays as it is", "please call {friend} before any change", "in writing only",
    ],
    "details claim": [
        "the {device} {fault} and flooded the kitchen", "a branch fell on the roof in the storm",
        "the bicycle was stolen near {spot}", "the luggage was lost in {place}", "a stone cracked the windscreen",
        "the {thing} was damaged on the way to {place}",
    ],
    "details alert": ["the balance is getting low", "a sign-in from a new phone", "the statement is ready"],
    "details opinion": [
        "friendly staff but a noisy room", "reliable and quick to learn", "helpful answers but a long wait",
        "careful work on the {topic} project", "great breakfast and a lovely view",
    ],
    "details order": ["{cook} {dish} without onions", "{cook} {dish} and sparkling water", "{dish} with extra sauce"],
    "details address": ["{number} {street}, {place}"],
    "details preference": [
        "a quiet room on a high floor", "no marketing emails", "an aisle seat and vegetarian meals",
        "dark colours and large print", "notifications by text message only",
    ],
    "details occasion": [
        "a birthday dinner in the garden", "a {topic} {gathering}", "a first meeting with {friend}",
        "help with the {device}", "a talk about the {topic} project",
    ],
    "details animal": ["a brown spaniel named {friend}", "a grey cat named {friend}", "a white rabbit named {friend}"],
    "details home": ["{home} {extra}"],
    "details trade": ["a bakery in {place}", "a bicycle repair shop in {place}", "a {topic} agency in {place}"],
    "details income": ["income from a part-time job", "rent from a flat in {place}", "sales of a small {topic} shop"],
    "details account": ["an account at {last} Savings Bank", "the joint account with {friend}", "monthly payments as before"],
    "details health": ["recovering well and without fever", "allergic to penicillin", "to rest at home and drink a lot"],
    "details freight": ["boxes with a {colour} {thing} each", "a pallet of {thing} parts", "a {trait} {thing} in foil"],
    "details person": [
        "{friend} {last} in {place}", "moved to {place} last spring", "{friend} {last}, a neighbour in {place}",
    ],
    "details document": ["a scan of the rental contract", "the signed consent form", "a copy of the {topic} certificate"],
    "details application": [
        "moving here from {place}", "all papers are attached", "{friend} {last} will collect it",
        "the name has changed to {last}", "please send it by post",
    ],
    "message opinion": ["great value for the price", "it works well but is too loud", "the {colour} one looks even better"],
    "reason health": ["severe chest pain", "a broken wrist", "a high fever", "a persistent cough", "knee surgery"],
    "reason exemption": ["studying abroad", "a chronic back condition", "caring for a sick parent"],
    "reason leaving": ["moving to {place}", "a new job in {place}", "going back to university", "family reasons"],
    "reason return": ["it arrived damaged", "the size is wrong", "a part is missing", "the colour looks different"],
    "status room": ["clean", "dirty", "being cleaned", "inspected", "out of service"],
    "status service": ["active", "inactive", "suspended"],
    "status payment": ["paid", "unpaid", "overdue", "refunded"],
    "category payment": ["credit card", "debit card", "bank transfer", "cash", "direct debit"],
    "category room": ["single", "double", "twin", "suite", "family"],
    "category test": ["blood count", "cholesterol", "allergy", "thyroid", "urine", "glucose"],
    "category department": ["administration", "research", "customer care", "radiology", "accounting"],
    "category insurance": ["home", "life", "travel", "dental", "liability"],
    "category visa": ["tourist", "student", "business", "work", "transit"],
    "category cabin": ["economy", "premium economy", "business", "first"],
    "category record": ["birth", "marriage", "land", "court", "census"],
    "category benefit": ["housing", "childcare", "disability", "unemployment"],
    "category network": ["LTE", "GSM", "CDMA", "UMTS"],
    "category frequency": ["daily", "weekly", "monthly", "quarterly", "yearly"],
    "category format": ["PDF", "CSV", "XLSX", "HTML"],
    "category leave": ["annual", "sick", "parental", "unpaid"],
    "category account": ["savings", "checking", "joint", "business"],
    "category device": ["smartphone", "tablet", "laptop", "router"],
    "category vehicle": ["compact", "estate", "van", "convertible"],
    "category preference": ["window seat", "aisle seat", "vegetarian meals", "extra legroom"],
    "text maker": ["Toyota", "Volvo", "Renault", "Ford", "Honda", "Fiat", "Mazda"],
    "text model": ["Comet GT", "Nova S", "Terra Plus", "Atlas Sport", "Vento Classic"],
    "text preference": ["dark mode on", "automatic updates off", "vibration only", "power saving on"],
    "company hospital": ["{place} General Hospital", "{last} Memorial Hospital", "Riverside Clinic {place}"],
    "company airline": ["{image} Airways", "Air {place}"],
    "company bank": ["{last} Savings Bank", "{place} Credit Union"],
    "status": ["pending", "completed", "in progress", "cancelled", "on hold", "approved", "delivered", "open"],
    "category": ["standard", "premium", "basic", "family", "express", "student", "business", "seasonal", "deluxe"],
    "language": ["English", "German", "French", "Spanish", "Italian", "Japanese", "Portuguese", "Korean", "Arabic"],
    "text": ["{quality} {image}", "{colour} {image}", "{topic} {image}", "{trait} {topic}", "{mood} {topic}"],
}  # fmt: skip
