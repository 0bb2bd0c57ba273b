import { Link } from '@tanstack/react-router'
import { Trans } from 'react-i18next'

/** Says that the session has ended. The link opens a new tab, so that the page keeps its text. */
export const SignInAgain = () => (
  <Trans
    i18nKey="signedOut.signInAgain"
    components={{ a: <Link to="/sign-in" target="_blank" className="strong" /> }}
  />
)
