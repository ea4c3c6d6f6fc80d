# Dates, spans and their differences.
from datetime import date, datetime, timedelta

d = datetime(2024, 2, 28, 23, 30)
print(d + timedelta(hours=1), d + timedelta(days=2))
print((datetime(2025, 1, 1) - datetime(2024, 1, 1)).days)
print(date(2024, 12, 25).isoformat(), date(2024, 12, 25).weekday())
print(timedelta(days=1, hours=2) > timedelta(hours=25), timedelta(seconds=90).total_seconds())
print(datetime(2024, 3, 1) < datetime(2024, 3, 2), date(2000, 2, 29) + timedelta(365))
