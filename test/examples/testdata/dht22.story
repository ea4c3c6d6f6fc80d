sim set DHT22 temperature=-4.5
sim set DHT22 humidity=61.2
run dht22.py
event user:dht "t":-4.5
event user:dht "h":61.2
