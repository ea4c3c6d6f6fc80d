sim set MPU6050 az=-1
sim set MPU6050 temperature=31
run mpu6050.py
event user:imu "z":-1
event user:imu "t":31
