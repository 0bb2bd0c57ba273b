import { useEffect, useState } from 'react'
import { isReady } from '../api.ts'
import { StatusDot } from '../components/status-dot.tsx'

/** What is here, and where to go from here. */
export function WelcomePage() {
  const [ready, setReady] = useState<boolean>()

  useEffect(() => {
    const ask = () => void isReady().then(setReady)
    ask()
    const timer = setInterval(ask, 5_000)
    return () => clearInterval(timer)
  }, [])

  return (
    <main>
      <header>
        <img src={`${import.meta.env.BASE_URL}bell.svg`} alt="" width="44" height="44" />
        <div>
          <h1>Bellwether</h1>
          <StatusDot ready={ready} />
        </div>
      </header>

      <p className="lead">
        Automatic messages around appointments that are never lost, never repeated and never early,
        and the reports beside them.
      </p>

      <section>
        <h2>Look around</h2>
        <ul className="cards">
          <li>
            <a href="/docs">
              <strong>API description</strong>
              <span>Every address, what it takes and answers, with examples to try.</span>
            </a>
          </li>
          <li>
            <a href="/openapi.json">
              <strong>OpenAPI 3.1</strong>
              <span>The same for programs: generate a client, check a request.</span>
            </a>
          </li>
          <li>
            <a href="/readyz">
              <strong>Health</strong>
              <span>
                <code>/healthz</code> for the process, <code>/readyz</code> for the database and the
                engine, <code>/metrics</code> for Prometheus.
              </span>
            </a>
          </li>
        </ul>
      </section>

      <section>
        <h2>First steps</h2>
        <ol>
          <li>
            The operator’s key was printed once at the very first start. It makes businesses and
            their keys:
            <pre>{FIRST_BUSINESS}</pre>
          </li>
          <li>A business’s key does everything else: appointments, automations, reports.</li>
          <li>Without a mail server every mail is kept and shown; none leaves this machine.</li>
        </ol>
      </section>
    </main>
  )
}

const FIRST_BUSINESS = `curl ${location.origin}/business \\
  -H "Authorization: Bearer $OPERATOR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "name": "Riverside Clinic", "timeZone": "Europe/Paris" }'`
