/* Computed torque on a double pendulum, which is simulated as well: the joints follow sine waves, at 1 kHz.
 *
 * robot_rnea is the controller's model, robot_aba the robot itself; kinetree wrote both (see CMakeLists.txt). The same
 * file runs on a PC and, without an operating system, on a microcontroller. It ends with 0 if the error has decayed.
 */
#include <math.h>

#include "robot_aba.h"
#include "robot_rnea.h"

#define JOINTS 2
#define STEPS 2000

static const float dt = 0.001f;
static const float stiffness = 400.0f; /* 1/s^2 */
static const float damping = 40.0f;    /* 1/s: critical, so that errors decay as (1 + 20 t) exp(-20 t) */

/* One step of the controller: the torques that make the error decay. */
static void control(float t, const float q[JOINTS], const float v[JOINTS], float error[JOINTS], float tau[JOINTS])
{
    float wanted[JOINTS];
    for (int i = 0; i < JOINTS; ++i) {
        const float rate = (float)(i + 1);
        error[i] = 0.5f * sinf(rate * t) - q[i];
        const float error_rate = 0.5f * rate * cosf(rate * t) - v[i];
        wanted[i] = -0.5f * rate * rate * sinf(rate * t) + damping * error_rate + stiffness * error[i];
    }
    robot_rnea(q, v, wanted, tau);
}

int main(void)
{
    float q[JOINTS] = {0.3f, -0.4f};
    float v[JOINTS] = {0.0f, 0.0f};
    float error[JOINTS];
    float tau[JOINTS];
    float qdd[JOINTS];

    for (int step = 0; step < STEPS; ++step) {
        control((float)step * dt, q, v, error, tau);
        robot_aba(q, v, tau, qdd);
        for (int i = 0; i < JOINTS; ++i) {
            v[i] += dt * qdd[i];
            q[i] += dt * v[i];
        }
    }
    for (int i = 0; i < JOINTS; ++i) {
        if (!(fabsf(error[i]) < 2e-3f)) {
            return 1;
        }
    }
    return 0;
}
