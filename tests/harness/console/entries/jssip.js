export { UA, WebSocketInterface, debug } from "jssip";
