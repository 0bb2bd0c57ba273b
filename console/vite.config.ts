import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    rolldownOptions: {
      output: {
        // The first load lists all files: their names are as short as possible.
        chunkFileNames: 'assets/[hash:7].js',
      },
    },
  },
  server: { proxy: { '^/(?!console/)': 'http://127.0.0.1:8080' } },
})
