import type { Engine } from '../../src/automation/engine.ts'

/** The steps of an engine's loops, to be taken one at a time. */
export const stepsOf = ({ loops, deliveries }: Engine) => ({
  /** Fires a batch of due triggers, and one with failed attempts; returns how many. */
  fire: async () => (await loops.fire[0]!.runOnce()) + (await loops.retry[0]!.runOnce()),
  /** Begins to send due mails; returns how many. */
  deliver: () => loops.deliver.runOnce(),
  /** Waits until all mails that are being sent have their answer. */
  settle: () => deliveries.settle(),
  takeOver: () => loops.takeover.runOnce(),
  plan: () => loops.plan.runOnce(),
  reconcile: () => loops.reconcile.runOnce(),
  sweep: () => loops.sweep.runOnce(),
  heartbeat: () => loops.heartbeat.runOnce(),
})
