sim set TEMP_ADC 310
run data_logger.py
stdout ^6 0,25.0
file /log.csv ^n,celsius\n0,25\.0\n1,25\.0\n2,25\.0\n3,25\.0\n4,25\.0\n$
