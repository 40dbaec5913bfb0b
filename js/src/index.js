export * from './decompress.js';
export * from './compress.js';
