"""The texts that statements are tested on."""

TEXT = "I want to buy a car."
TEXTS = (
    TEXT,
    "We have been waiting for the bus for more than an hour.",
    "My brother works in a small factory near the river.",
    "The government decided to build a new bridge over the river next year.",
)
SEARCHED = (
    "The train was late again this morning.",
    "If it rains tomorrow, we will stay at home and play cards.",
    "What are you looking for?",
    "She asked me whether I could help her with her homework.",
    "They have been friends for many years.",
    "Nobody knows why he left the party so early.",
    "Please wait for me in front of the station.",
    *TEXTS,
)
HOUSE = (
    "The house is beautiful and well located in the middle of the city "
    "where it is easily accessible by public transport"
)
LONGER = "Yesterday my sister bought two very old books."
