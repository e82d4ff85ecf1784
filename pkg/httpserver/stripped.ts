/**
 * What stands in the place of a raw header that was taken off. Nothing is removed: node counts on the number of the raw headers
 * when it makes its other views of them. Anyone who hands headers on leaves out every one of Kapis' own.
 */
export const strippedHeader = 'x-kapis-stripped'
