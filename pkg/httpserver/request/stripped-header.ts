/**
 * Replaces the name of a removed raw header. Raw headers are not deleted, since Node.js relies on
 * their number for its other views. Code that forwards headers skips all x-kapis-* ones.
 */
export const strippedHeader = 'x-kapis-stripped'
