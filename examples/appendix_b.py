"""The paper's Appendix B: look into an agent. Opens the inspector in the browser, and ends when its page is closed."""

from btai import BTAI_3MF
from btai.envs import dsprites_slice, dSpritesEnv, dSpritesPreProcessingWrapper
from btai.inspector import GUI

# Environment and agent, as in Appendix A; `dsprites_slice` declares the slice that is spelt out there.
env = dSpritesPreProcessingWrapper(dSpritesEnv(granularity=1, repeat=8))
agent = BTAI_3MF(dsprites_slice(granularity=1, repeat=8), max_planning_steps=150, exp_const=2.4)

# Create the GUI for analysis.
gui = GUI(env, agent)
gui.loop()
