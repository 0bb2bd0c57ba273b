import type { Engine } from '../../src/automation/engine.ts'

/** Functions that run single steps of an engine's loops. */
export const stepsOf = ({ loops, deliveries }: Engine) => {
  let isFirstStepDone = false
  /** The first takeover step of a node takes over nothing. */
  const runFirstStep = async () => {
    if (!isFirstStepDone) await loops.takeover.runOnce()
    isFirstStepDone = true
  }
  return {
    /** Fires a batch of due triggers, and one with failed attempts; returns how many. */
    fire: async () => (await loops.fire[0]!.runOnce()) + (await loops.retry[0]!.runOnce()),
    /** Begins to send due mails; returns how many. */
    deliver: () => loops.deliver.runOnce(),
    /** Waits until the server has answered all mails that are being sent. */
    settle: () => deliveries.settle(),
    /** Takes over expired leases and finishes planning that their workers began; returns how many. */
    takeOver: async () => {
      await runFirstStep()
      return (await loops.takeover.runOnce()) + (await loops.replan.runOnce())
    },
    plan: () => loops.plan.runOnce(),
    reconcile: () => loops.reconcile.runOnce(),
    sweep: () => loops.sweep.runOnce(),
    correctTimes: () => loops.setBack.runOnce(),
    heartbeat: () => loops.heartbeat.runOnce(),
  }
}
