import { commandKey } from '../shell/platform.ts'
import classes from './save-keys.module.css'

/** The shortcut of a save button. */
export const SaveKeys = () => (
  <span className={`row ${classes.keys}`} aria-hidden>
    <kbd>{commandKey()}</kbd>
    <kbd>S</kbd>
  </span>
)
