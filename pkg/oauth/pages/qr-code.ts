import encodeQR from 'qr'
import { type Html, html } from '../../httpserver/response/html-template.ts'

/** Width of the white border of the code, in modules (ISO/IEC 18004). */
const border = 4

/** Renders a QR code as inline SVG, always black on white, which every camera reads. */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border })
  const size = rows.length
  const path = rows
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('')
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/>
<path fill="#000" d="${path}"/>
</svg>`
}
