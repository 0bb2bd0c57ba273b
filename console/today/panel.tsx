import type { ReactNode } from 'react'

type Props = { title: string; aside?: ReactNode; children: ReactNode }

/** A card of the page Today. */
export function Panel({ title, aside, children }: Props) {
  return (
    <section className="card panel">
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
