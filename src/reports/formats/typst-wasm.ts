import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { initSync, TypstCompilerBuilder } from '@myriaddreamin/typst-ts-web-compiler'
import { fontsFor } from './fonts.ts'
import { packPdf } from './pack-pdf.ts'
import type { SetReport, Typst } from './typst.ts'

const MAIN = '/report.typ'
const PAGED = 0
const PDF = 1
const SHORT_DIAGNOSTICS = 2

/** The WebAssembly build, which writes tags. Only for short reports: it takes four times as long. */
export async function openTaggingTypst(template: string, text: string): Promise<Typst> {
  const wasm = import.meta.resolve('@myriaddreamin/typst-ts-web-compiler/wasm')
  initSync({ module: readFileSync(fileURLToPath(wasm)) })

  const { families, files: fonts } = fontsFor(text)
  const builder = new TypstCompilerBuilder()
  builder.set_dummy_access_model()
  for (const font of fonts) await builder.add_raw_font(readFileSync(font))
  const compiler = await builder.build()
  compiler.add_source(MAIN, template)

  const compile = (files: Map<string, Buffer>): SetReport => {
    for (const [name, bytes] of files) compiler.map_shadow(`/${name}`, bytes)
    const world = compiler.snapshot(null, MAIN)
    const { hasError, diagnostics } = world.compile(PAGED, SHORT_DIAGNOSTICS)
    if (hasError) {
      throw new Error(`Typst could not compile the report: ${JSON.stringify(diagnostics)}`)
    }
    return {
      layout: JSON.parse(world.query(PAGED, '<layout>', 'value'))[0],
      pdf: () => packPdf(Buffer.from(world.get_artifact(PDF, SHORT_DIAGNOSTICS).result)),
    }
  }
  return { families, compile }
}
