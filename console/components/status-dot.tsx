/** Tells in a word and a colour whether the service can do its work. */
export function StatusDot({ ready }: { ready: boolean | undefined }) {
  const word = ready === undefined ? 'asking …' : ready ? 'ready' : 'not ready'
  const kind = ready === undefined ? 'asking' : ready ? 'ready' : 'away'
  return (
    <p className={`status ${kind}`} role="status">
      {word}
    </p>
  )
}
