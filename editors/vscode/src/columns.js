'use strict';
// The daemon counts columns in UTF-8 bytes from 1, VS Code in UTF-16 code units from 0.

/** Code units before a byte column of a line. */
function toCharacter(line, column) {
  const before = Buffer.from(line, 'utf8').subarray(0, Math.max(column - 1, 0));
  return before.toString('utf8').length;
}

/** The byte column of a position in code units. */
function toColumn(line, character) {
  return Buffer.byteLength(line.slice(0, character), 'utf8') + 1;
}

module.exports = { toCharacter, toColumn };
