import type { Engine } from '../../src/automation/engine.ts'

/** The steps of an engine's loops, to be taken one at a time. */
export const stepsOf = ({ loops, deliveries }: Engine) => ({
  /** Claims a batch of due triggers and fires it; returns how many. */
  fire: () => loops.fire[0]!.runOnce(),
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
