/* Gravity compensation of a double pendulum on an Arduino with a floating-point unit, such as a Nano 33 BLE or a Teensy.
 *
 * kinetree writes the function into the folder of this sketch, where the Arduino IDE compiles all files:
 *
 *     kinetree export double_pendulum --function gravity_forces --dtype float32 --name gravity --out gravity_compensation
 *
 * Leave out gravity_test.c, which has a main of its own (delete it, or run it on a PC first). Pins and scales are those
 * of your motors and sensors: turn the current limits down before you try this.
 */
#include "gravity.h"

static const int SENSOR[2] = {A0, A1};
static const int MOTOR[2] = {5, 6};
static const float RADIANS_PER_COUNT = 0.0061359f; /* 1024 counts per turn */
static const float COUNTS_PER_NM = 40.0f;

void setup()
{
    for (int i = 0; i < 2; ++i) {
        pinMode(MOTOR[i], OUTPUT);
    }
}

void loop()
{
    static unsigned long next = 0;
    float q[2], tau[2];

    for (int i = 0; i < 2; ++i) {
        q[i] = RADIANS_PER_COUNT * (float)(analogRead(SENSOR[i]) - 512);
    }
    gravity(q, tau);
    for (int i = 0; i < 2; ++i) {
        const float counts = 128.0f + COUNTS_PER_NM * tau[i];
        analogWrite(MOTOR[i], counts < 0.0f ? 0 : counts > 255.0f ? 255 : (int)counts);
    }
    while ((long)(micros() - next) < 0) {
    }
    next = micros() + 1000UL; /* 1 kHz */
}
