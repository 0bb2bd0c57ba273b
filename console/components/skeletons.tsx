import { Placeholder } from './states.tsx'

const WIDTHS = [150, 190, 130, 170]

/** The placeholder of a list, as high as its rows, so that the layout does not shift. */
export function LoadingRows({ rows = 12, height = 38 }: { rows?: number; height?: number }) {
  return (
    <Placeholder minHeight={(rows + 1) * height}>
      <div className="card loading-rows">
        <div className="row" style={{ height }}>
          <Bar width={120} height={14} />
          <span className="grow" />
          <Bar width={90} height={12} />
        </div>
        {Array.from({ length: rows }, (_, row) => {
          const width = WIDTHS[row % WIDTHS.length]!
          return (
            <div key={row} className="row" style={{ height }}>
              <Bar width={36} />
              <Bar width={11} isRound />
              <Bar width={width} />
              <Bar width={width + 60} />
            </div>
          )
        })}
      </div>
    </Placeholder>
  )
}

type ColumnsProps = { hasHeading?: boolean; hasStrip?: boolean }

/** The placeholder of a page with two columns, below a heading or a wide card. */
export function LoadingColumns({ hasHeading = false, hasStrip = false }: ColumnsProps) {
  return (
    <Placeholder minHeight={600}>
      {hasHeading && (
        <div className="column" style={{ gap: 14, margin: '4px 0 22px' }}>
          <Bar width={320} height={26} />
          <Bar width={460} height={14} />
        </div>
      )}
      {hasStrip && (
        <div style={{ marginBottom: 20 }}>
          <LoadingCard lines={3} />
        </div>
      )}
      <div className="two-columns">
        <LoadingCard lines={10} />
        <div className="column" style={{ gap: 20 }}>
          <LoadingCard lines={4} />
          <LoadingCard lines={3} />
        </div>
      </div>
    </Placeholder>
  )
}

function LoadingCard({ lines }: { lines: number }) {
  return (
    <div className="card loading-rows">
      <div className="row" style={{ height: 46 }}>
        <Bar width={140} height={14} />
      </div>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="row" style={{ height: 38 }}>
          <Bar width={36} />
          <Bar width={WIDTHS[line % WIDTHS.length]!} />
        </div>
      ))}
    </div>
  )
}

export function LoadingDay() {
  return (
    <Placeholder minHeight={600}>
      <div className="card loading-day">
        {[0, 1, 2, 3, 4, 5].map((column) => (
          <div key={column} className="column">
            <Bar width={90} height={12} />
            {[0, 1, 2, 3, 4].map((visit) => (
              <div
                key={visit}
                className="skeleton"
                style={{ height: 44, marginTop: 12 + ((visit * 3 + column * 2) % 4) * 14 }}
              />
            ))}
          </div>
        ))}
      </div>
    </Placeholder>
  )
}

type BarProps = { width: number; height?: number; isRound?: boolean }

const Bar = ({ width, height = 11, isRound = false }: BarProps) => (
  <div
    className="skeleton"
    style={{ width, height, maxWidth: '100%', borderRadius: isRound ? '50%' : 5 }}
  />
)
