// Messages to and from the desk: the length of a head, the head in JSON, data.

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const RETRY = 1000;

export class Wire {
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.connect();
  }

  connect() {
    const address = new URL("live", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.onState("here");
    this.socket.onmessage = (event) => this.onMessage(...unpacked(event.data));
    this.socket.onclose = (event) => {
      this.onState("away", event.code);
      setTimeout(() => this.connect(), RETRY);
    };
  }

  get open() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(head, data) {
    if (!this.open) return false;
    const text = encoder.encode(JSON.stringify(head));
    const message = new Uint8Array(4 + text.length + (data ? data.byteLength : 0));
    new DataView(message.buffer).setUint32(0, text.length, true);
    message.set(text, 4);
    if (data) message.set(new Uint8Array(data), 4 + text.length);
    this.socket.send(message);
    return true;
  }
}

function unpacked(buffer) {
  const end = 4 + new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(decoder.decode(new Uint8Array(buffer, 4, end - 4)));
  return [head, new Uint8Array(buffer, end)];
}
