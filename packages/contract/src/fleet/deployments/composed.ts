// Pure functions without imports of libraries: the consoles bundle them.
import { type Piece, piecesOf, placeholderPattern } from '../../shared/placeholders.ts';

/** The name of a reference in a composed value. */
export const PLACEHOLDER_NAME = /^[a-z][a-z0-9_]{0,62}$/;

const PLACEHOLDER = placeholderPattern(/[a-z][a-z0-9_]{0,62}/);

/** The pieces of a composed text, whose placeholders are names of references. @returns undefined if it is not well-formed */
export const composedPieces = (text: string): readonly Piece[] | undefined => piecesOf(text, PLACEHOLDER);
