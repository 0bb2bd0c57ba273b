import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { readinessQuery, type Readiness } from '../api/readiness.ts'
import { BellShape } from '../components/bell.tsx'
import classes from './sign-in.module.css'

/** The frame of the pages without a session. */
export function SignInFrame({ children }: { children: ReactNode }) {
  return (
    <div className={classes.page}>
      <Promise />
      <main className={classes.main}>
        <div className={classes.center}>{children}</div>
        <Footer />
      </main>
    </div>
  )
}

function Promise() {
  const { t } = useTranslation()
  return (
    <aside className={classes.aside}>
      <div className={classes.brand}>Bellwether</div>
      <RingingBell />
      <div style={{ flex: 1 }} />
      <p className={classes.sentence}>
        <Trans i18nKey="signIn.sentence" components={{ u: <span className={classes.word} /> }} />
      </p>
      <p className={classes.promise}>{t('signIn.promise')}</p>
    </aside>
  )
}

const RINGS = [92, 136, 186, 242, 304]
const SENT_AT = [58, 124, 184, 250, 306]
const WAITING_AT = [470, 528, 600, 664, 722]

function RingingBell() {
  return (
    <svg viewBox="0 0 760 420" className={classes.bell} aria-hidden>
      {RINGS.map((radius, i) => (
        <circle
          key={radius}
          cx="384"
          cy="196"
          r={radius}
          fill="none"
          stroke="#f6d68a"
          strokeWidth="1.25"
          opacity={0.34 - i * 0.062}
        />
      ))}
      <path
        d="M0 78 C 180 78 300 92 384 92 S 590 78 760 78"
        fill="none"
        stroke="#8fc7b3"
        strokeWidth="3"
      />
      {SENT_AT.map((x) => (
        <circle key={x} cx={x} cy={78 + Math.max(0, (x - 90) / 20)} r="7.5" fill="#8fc7b3" />
      ))}
      {WAITING_AT.map((x) => (
        <circle
          key={x}
          cx={x}
          cy={78 + Math.max(0, (680 - x) / 20)}
          r="6.5"
          fill="#234a3f"
          stroke="#8fc7b3"
          strokeWidth="2.25"
        />
      ))}
      <g transform="translate(276 66) scale(6.75)">
        <BellShape body="#f6d68a" strap="#e3b04b" />
      </g>
    </svg>
  )
}

function Footer() {
  const { t } = useTranslation()
  const { data } = useQuery(readinessQuery)
  const state: Readiness = data ?? 'well'
  const color = state === 'well' ? 'var(--mark)' : 'var(--clay)'
  return (
    <footer className="row faint small" style={{ gap: 18, justifyContent: 'center' }}>
      <span className="row" style={{ gap: 7 }} aria-live="polite">
        <svg width="8" height="8" aria-hidden>
          <circle cx="4" cy="4" r="4" fill={color} />
        </svg>
        {t(state === 'well' ? 'health.ready' : `health.${state}`)}
      </span>
      <a href="/docs">{t('signIn.apiDescription')}</a>
    </footer>
  )
}
