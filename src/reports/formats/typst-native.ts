import { dirname, join } from 'node:path'
import { NodeCompiler } from '@myriaddreamin/typst-ts-node-compiler'
import { fontsFor } from './fonts.ts'
import type { SetReport, Typst } from './typst.ts'

const WORKSPACE = import.meta.dirname

/** The native build: fast, but its release of Typst writes no tags. */
export function openNativeTypst(template: string, text: string): Typst {
  const { families, files } = fontsFor(text)
  const compiler = NodeCompiler.create({
    workspace: WORKSPACE,
    fontArgs: [{ fontPaths: files.map((file) => dirname(file)) }],
  })

  const compile = (files: Map<string, Buffer>): SetReport => {
    compiler.evictCache(0)
    for (const [name, bytes] of files) compiler.mapShadow(join(WORKSPACE, name), bytes)
    const compiled = compiler.compile({ mainFileContent: template })
    const document = compiled.result
    if (!document) {
      const problems = compiled.takeDiagnostics()?.shortDiagnostics
      throw new Error(`Typst could not compile the report: ${JSON.stringify(problems)}`)
    }
    return {
      layout: compiler.query(document, { selector: '<layout>', field: 'value' })[0],
      pdf: () => compiler.pdf(document),
    }
  }
  return { families, compile }
}
