/** The logo: the bell of the lead sheep, on a pine tile. */
export function Bell({ size = 28 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#2f5d50" />
      <BellShape body="#f6d68a" strap="#f6d68a" />
    </svg>
  )
}

export const BELL_BODY =
  'M12.3 9.6h7.4c1.2 0 2.2.8 2.5 1.9 1 3.9 1.5 7.3 3.3 10.1.5.8 0 1.9-1 1.9H7.5c-1 0-1.5-1.1-1-1.9 1.8-2.8 2.3-6.2 3.3-10.1.3-1.1 1.3-1.9 2.5-1.9z'

/** Only the bell, 32 by 32. Belongs inside an SVG. */
export function BellShape({ body, strap }: { body: string; strap: string }) {
  return (
    <g>
      <path
        d="M13.1 10.2V8.1a2.9 2.9 0 0 1 5.8 0v2.1"
        fill="none"
        stroke={strap}
        strokeWidth="1.8"
        strokeLinecap="round"
      />
      <path d={BELL_BODY} fill={body} />
      <path d="M13.5 24.6a2.55 2.55 0 0 0 5 0z" fill={body} />
    </g>
  )
}
