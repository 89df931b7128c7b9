"""The script of the paper's Appendix A, word for word but for its imports."""

from btai import BTAI_3MF, TemporalSliceBuilder
from btai.envs import dSpritesEnv, dSpritesPreProcessingWrapper

# Create the environment.
env = dSpritesEnv(granularity=1, repeat=8)
env = dSpritesPreProcessingWrapper(env)

# Define the parameters of the generative model.
a = env.a()
b = env.b()
c = env.c()
d = env.d(uniform=True)

# Create the temporal slice builder.
ts_builder = TemporalSliceBuilder("A_1", env.n_actions)

# Add the latent states of the model to the temporal slice.
ts_builder.add_state("S_pos_x", d["S_pos_x"]) \
    .add_state("S_pos_y", d["S_pos_y"]) \
    .add_state("S_shape", d["S_shape"]) \
    .add_state("S_scale", d["S_scale"]) \
    .add_state("S_orientation", d["S_orientation"])

# Define the likelihood mapping of the temporal slice.
ts_builder.add_observation("O_pos_x", a["O_pos_x"], ["S_pos_x"]) \
    .add_observation("O_pos_y", a["O_pos_y"], ["S_pos_y"]) \
    .add_observation("O_shape", a["O_shape"], ["S_shape"]) \
    .add_observation("O_scale", a["O_scale"], ["S_scale"]) \
    .add_observation("O_orientation", a["O_orientation"], ["S_orientation"])

# Define the transition mapping of the temporal slice.
ts_builder.add_transition("S_pos_x", b["S_pos_x"], ["S_pos_x", "A_1"]) \
    .add_transition("S_pos_y", b["S_pos_y"], ["S_pos_y", "A_1"]) \
    .add_transition("S_shape", b["S_shape"], ["S_shape"]) \
    .add_transition("S_scale", b["S_scale"], ["S_scale"]) \
    .add_transition("S_orientation", b["S_orientation"], ["S_orientation"])

# Define the prior preferences of the temporal slice.
ts_builder.add_preference(["O_pos_x", "O_pos_y", "O_shape"], c["O_shape_pos_x_y"])

# Create the initial temporal slice.
ts = ts_builder.build()

# Create the agent.
agent = BTAI_3MF(ts, max_planning_steps=150, exp_const=2.4)

# Implement the action-perception cycles.
n_trials = 100
for i in range(n_trials):
    obs = env.reset()
    env.render()
    agent.reset(obs)
    while not env.done():
        action = agent.step()
        obs = env.execute(action)
        env.render()
        agent.update(action, obs)
