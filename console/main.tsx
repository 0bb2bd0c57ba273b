import { createRoot } from 'react-dom/client'
import { WelcomePage } from './pages/welcome.tsx'
import './style.css'

createRoot(document.getElementById('root')!).render(<WelcomePage />)
