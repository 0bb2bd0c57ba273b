import type { Engine } from '../../src/automation/engine.ts'

/** The steps of an engine's loops, to be taken one at a time. */
export const stepsOf = ({ loops, deliveries }: Engine) => {
  let hasLooked = false
  /** The first step of a node takes over nothing. */
  const lookFirst = async () => {
    if (!hasLooked) await loops.takeover.runOnce()
    hasLooked = true
  }
  return {
    /** Fires a batch of due triggers, and one with failed attempts; returns how many. */
    fire: async () => (await loops.fire[0]!.runOnce()) + (await loops.retry[0]!.runOnce()),
    /** Begins to send due mails; returns how many. */
    deliver: () => loops.deliver.runOnce(),
    /** Waits until all mails that are being sent have their answer. */
    settle: () => deliveries.settle(),
    /** Takes over expired leases, and plans what their workers left unplanned; returns how many. */
    takeOver: async () => {
      await lookFirst()
      return (await loops.takeover.runOnce()) + (await loops.replan.runOnce())
    },
    plan: () => loops.plan.runOnce(),
    reconcile: () => loops.reconcile.runOnce(),
    sweep: () => loops.sweep.runOnce(),
    heartbeat: () => loops.heartbeat.runOnce(),
  }
}
