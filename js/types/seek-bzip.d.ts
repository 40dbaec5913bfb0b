/** An input object: only these methods are called. */
interface ByteInput {
  readByte(): number;
  seek?(position: number): void;
  eof?(): boolean;
}

interface ByteOutput {
  writeByte(byte: number): void;
  write?(bytes: Uint8Array, offset: number, length: number): unknown;
}

type Input = Uint8Array | ByteInput;
type Output = number | Uint8Array | ByteOutput;

declare const Bunzip: {
  readonly Err: Readonly<Record<string, number>>;
  readonly Stream: new () => ByteInput & ByteOutput;
  /** The text of the first stream, or of all of them. */
  decode(input: Input, output?: Output, multistream?: boolean): Uint8Array;
  /** The text of the block that begins at this bit. */
  decodeBlock(input: Input, position: number, output?: Output): Uint8Array;
  /** Calls back for each block, with its first bit and the length of its text. */
  table(input: Input, callback: (position: number, size: number) => void, multistream?: boolean): void;
};
export = Bunzip;
