/** The maximum width and height of an icon, in pixels. */
const MAX_PIXELS = 512;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The media type of an image by its first bytes: PNG, JPEG or WebP of at most 512 x 512 pixels.
 * @throws an error that states why the bytes are no icon
 */
export function typeOfImage(bytes: Buffer): 'image/png' | 'image/jpeg' | 'image/webp' {
  for (const [type, sizeOf] of formats) {
    const size = sizeOf(bytes);
    if (size === undefined) continue;
    const { width, height } = size;
    if (width < 1 || height < 1) throw new Error('the image has no size that can be read');
    if (width > MAX_PIXELS || height > MAX_PIXELS) {
      throw new Error(
        `the image has ${width} x ${height} pixels, and at most ${MAX_PIXELS} x ${MAX_PIXELS} are allowed`,
      );
    }
    return type;
  }
  throw new Error('the file is neither PNG nor JPEG nor WebP');
}

/** The size is 0 x 0 if the file has the format, but no size that can be read. */
type SizeOf = (bytes: Buffer) => Size | undefined;

const NONE: Size = { width: 0, height: 0 };

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** https://www.w3.org/TR/png-3/#11IHDR */
const sizeOfPng: SizeOf = (bytes) => {
  if (!bytes.subarray(0, PNG.length).equals(PNG)) return undefined;
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return NONE;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
};

/** The markers of frames (ITU-T T.81, table B.1). The other ones of this range are tables. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** ITU-T T.81, section B.2: segments with their lengths follow the first marker. */
const sizeOfJpeg: SizeOf = (bytes) => {
  if (bytes.length < 3 || bytes.readUIntBE(0, 3) !== 0xff_d8ff) return undefined;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // A marker can be preceded by fill bytes.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return NONE;
};

/** https://developers.google.com/speed/webp/docs/riff_container */
const sizeOfWebp: SizeOf = (bytes) => {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  if (bytes.length < 30) return NONE;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return NONE;
  }
};

const formats = [
  ['image/png', sizeOfPng],
  ['image/jpeg', sizeOfJpeg],
  ['image/webp', sizeOfWebp],
] as const;
