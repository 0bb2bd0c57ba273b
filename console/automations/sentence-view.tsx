import type { SentencePart } from './sentence.ts'

/** For lists: chosen words stand out, the name of the mail is in italics. */
export function Sentence({ parts }: { parts: SentencePart[] }) {
  return (
    <span className="serif" style={{ fontSize: 16, lineHeight: 1.4 }} dir="auto">
      {parts.map((part, i) => (
        <Part key={i} part={part} isFirst={i === 0} />
      ))}
    </span>
  )
}

function Part({ part, isFirst }: { part: SentencePart; isFirst: boolean }) {
  const space = isFirst || !needsSpace(part) ? '' : ' '
  if (part.kind === 'plain') return <>{space + part.text}</>
  if (part.kind === 'template') {
    return (
      <>
        {space}
        <em style={{ fontWeight: 520 }}>{part.text}</em>
      </>
    )
  }
  const text = isFirst ? part.text[0]?.toUpperCase() + part.text.slice(1) : part.text
  return (
    <>
      {space}
      <b style={{ fontWeight: 620, color: 'var(--accent)' }}>{text}</b>
    </>
  )
}

/** No space before punctuation. */
export const needsSpace = ({ text }: SentencePart) => !/^[.,]/.test(text)
