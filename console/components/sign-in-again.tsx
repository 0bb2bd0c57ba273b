import { Link } from '@tanstack/react-router'
import { Trans } from '../texts/trans.tsx'

/** Says that the session has ended. The link opens a new tab, so that the page keeps its text. */
export const SignInAgain = () => (
  <Trans
    i18nKey="signedOut.signInAgain"
    components={{ a: <Link to="/sign-in" target="_blank" className="strong" /> }}
  />
)

/** Says that another person has signed in. The page keeps its text until it is loaded again. */
export const LoadAgain = () => (
  <Trans
    i18nKey="signedOut.replaced"
    components={{ a: <a href={window.location.href} className="strong" /> }}
  />
)
