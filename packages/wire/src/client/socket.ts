/** The part of a WebSocket that the client uses: every browser's and Node's own have it. */
export interface SocketLike {
  readonly readyState: number;
  send: (text: string) => void;
  close: (code?: number, reason?: string) => void;
  addEventListener: ((type: "open" | "error", listener: () => void) => void) &
    ((type: "message", listener: (event: { readonly data: unknown }) => void) => void) &
    ((type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void) => void);
}

export type SocketConstructor = new (url: string) => SocketLike;

/** `readyState` of one that is not open yet, and of an open one. */
export const connectingState = 0;
export const openState = 1;
