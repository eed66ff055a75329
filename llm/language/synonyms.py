"""Everyday words that mean the same; a pair of words may mean what one word does."""

from functools import lru_cache

from llm.language.stemming import deep_stem, stem

# one group a line; a hyphen joins two words that count as one
_GROUPS = """
daily every-day each-day
weekly every-week each-week
monthly every-month each-month
yearly annual annually every-year
minimum least fewest minimal lowest smallest less fewer
maximum most highest largest greatest
fast quick rapid speedy
fastest quickest
near nearby close adjacent
nearest closest
cheap inexpensive low-cost affordable
expensive costly pricey
large big
small little tiny
begin start commence
end finish terminate
buy purchase
get obtain acquire
repair fix mend
delete remove erase
modify change alter edit amend
choose select pick
search find look-up seek
show display view
query check inquire
reserve book
reservation booking
cancel call-off
help assist aid
need require
rent lease
rental lease
speak talk
reply respond answer
illegal unlawful
error mistake
issue problem trouble
activity event
meeting conference
discussion talk
summary wrap-up recap overview roundup
exchange communication interchange
schedule timetable
plan scheme
project program
training workshop
session class
lesson course
newsletter bulletin
announcement notice
reminder alert
suburb outskirt
downtown city-center city-centre town-center
neighborhood community residential-area
house home residence
apartment condo
room chamber
floor storey story
bathroom restroom toilet
kitchen cookhouse
garage carport
street road
highway motorway freeway expressway
sidewalk pavement
restaurant eatery
food cuisine
snack refreshment
breakfast morning-meal
lunch luncheon
dinner supper
drink beverage
hotel inn
tourist traveler visitor
trip journey travel
tour excursion
luggage baggage
flight plane airplane aircraft
ship vessel
boat ferry
car automobile vehicle
bicycle bike
motorcycle motorbike
train railway rail
ticket fare
seat place
driver chauffeur
passenger rider
doctor physician
nurse caregiver
illness disease sickness
medicine medication drug
hospital infirmary
dentist dental
child kid baby
man male gentleman
woman female lady
boy son
girl daughter
mother mom mum
father dad
grandmother grandma
grandfather grandpa
husband spouse
friend pal buddy
colleague coworker co-worker
boss manager supervisor
employee worker
student pupil
teacher instructor
lawyer attorney
picture image photo photograph
movie film
song track
music tune
voice sound tone
television tv
phone telephone cellphone
computer pc
message text
text-message sms
email e-mail
mail post
letter correspondence
document file
folder directory
password passcode
job work occupation
salary wage pay
money cash
price cost
bill invoice
tax duty
loan credit
deposit down-payment
insurance coverage
license permit
certificate certification
contract agreement
gift present
clothes clothing apparel
shoe footwear
trousers pants
sofa couch
closet wardrobe
garbage trash rubbish
gasoline petrol
weather climate
rain rainfall
snow snowfall
storm tempest
autumn fall
beautiful pretty lovely
happy glad cheerful
sad unhappy
angry mad
tired exhausted
comfortable cozy comfy
easy simple
difficult hard tough
important significant
famous well-known renowned
good nice fine
great excellent awesome
bad poor
new latest
old aged
safe secure
quiet silent
loud noisy
clean tidy
dirty filthy
broken damaged
fail failure
hurt injure
exercise workout
run jog
swim swimming
walk stroll walking
hobby pastime
goal aim target objective
opinion view viewpoint
comment remark
review evaluation appraisal
suggestion advice recommendation
frequent common regular
always constantly
often frequently
sometimes occasionally
now currently presently
soon shortly
midnight twelve-at-night
direct non-stop nonstop
economy coach
""".strip().splitlines()


@lru_cache(1)
def senses() -> dict[str, str]:
    """What each word, or pair of words joined by a space, is compared as."""
    table: dict[str, str] = {}
    for group in _GROUPS:
        words = group.split()
        for word in words:
            table.setdefault(sense_key(word.split("-")), f"={words[0]}")
    return table


def sense_key(words: list[str]) -> str:
    """The key of a word or a pair of words in the table."""
    return " ".join(deep_stem(stem(word)) for word in words)
