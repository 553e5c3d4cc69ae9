print("purgefs")
