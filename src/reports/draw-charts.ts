import type * as ECharts from 'echarts'
import { chartOption, type Chart } from './chart.ts'

/** Charts as SVG, without a browser. ECharts is large, so it is loaded when first needed. */
export async function drawCharts(charts: Chart[], { wide = false } = {}): Promise<string[]> {
  if (charts.length === 0) return []
  const { init } = await loadECharts()
  return charts.map((chart) => {
    const [width, height] = sizeOf(chart, charts.length)
    const stretched = wide ? Math.round(width * 1.5) : width
    const drawing = init(null, null, { renderer: 'svg', ssr: true, width: stretched, height })
    try {
      drawing.setOption(chartOption(chart))
      // The page around it sets the title.
      drawing.setOption({ title: { show: false }, grid: { top: legendRoom(chart) } })
      return steady(drawing.renderToSVGString())
    } finally {
      // An instance that is not disposed of keeps the process alive.
      drawing.dispose()
    }
  })
}

/** Two charts stand side by side; one alone, and a heat map, take the whole width. */
const sizeOf = (chart: Chart, count: number): [width: number, height: number] =>
  chart.kind === 'heatmap' ? [740, 270] : count === 1 ? [740, 210] : [360, 200]

const legendRoom = (chart: Chart) => (chart.kind !== 'heatmap' && chart.series.length > 1 ? 26 : 8)

/**
 * The same chart, the same bytes: ECharts counts its class names through the life of the process,
 * and a PDF lists what a drawing needs in no certain order, so it had better need one thing each.
 */
const steady = (svg: string) =>
  svg
    .replace(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replace(/ class="zr\d+-cls-\d+"/g, '')
    .replace(/zr\d+-(c|g|p|s)?(\d+)/g, 'zr-$1$2')
    .replace(/<(?:path|rect)[^>]* fill-opacity="0"[^>]*><\/(?:path|rect)>\n?/g, '')

/** All of it in one file: its hundreds of modules take six times as long to load, and the memory. */
const ONE_FILE = 'echarts/dist/echarts.esm.min.mjs'

const loadECharts = (): Promise<typeof ECharts> => import(ONE_FILE)
