/**
 * Replaces the name of a removed raw header. Nothing is deleted, since Node.js relies on the number
 * of raw headers for its other views. Code that forwards headers skips all x-kapis-* ones.
 */
export const strippedHeader = 'x-kapis-stripped'
