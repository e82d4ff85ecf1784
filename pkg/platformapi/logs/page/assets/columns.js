// Fields that lines show in columns of their own.
import { button, byId, element } from './elements.js'
import { fieldsOf, readable, textOf } from './log-record.js'

const mostColumns = 8

/** @param onChange is called after a user has added or removed a column */
export function createColumns(onChange) {
  let names = []

  function set(wanted) {
    names = [...new Set(wanted)].slice(-mostColumns)
    const heads = names.map(name => {
      const item = element('li')
      item.append(button(`${name} ✕`, () => toggle(name), `Remove the column ${name}`))
      return item
    })
    byId('columns').replaceChildren(...heads)
    byId('columns').hidden = heads.length === 0
    byId('records').style.setProperty('--columns', heads.length > 0 ? `repeat(${heads.length}, 8rem)` : '')
  }

  function toggle(name) {
    set(names.includes(name) ? names.filter(other => other !== name) : [...names, name])
    onChange()
  }

  return {
    names: () => names,
    set,

    toCells(record) {
      const fields = new Map(fieldsOf(record))
      return names.map(name => {
        const value = fields.get(name) ?? record[name]
        const cell = element('span', 'column', value === undefined ? '' : readable(textOf(value)))
        cell.dataset.name = name
        cell.title = `${name}: ${cell.textContent}`
        return cell
      })
    },

    /** Returns the button that shows or hides the column of a field. */
    toButton(name) {
      const label = `Show ${readable(name)} in a column`
      const made = button('Column', () => {
        toggle(name)
        // The buttons have been replaced.
        for (const other of byId('fields').querySelectorAll('h3 button')) if (other.ariaLabel === label) other.focus()
      }, label)
      made.setAttribute('aria-pressed', String(names.includes(name)))
      return made
    },
  }
}
