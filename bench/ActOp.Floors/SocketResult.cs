namespace ActOp.Floors;

/// <summary>What a bare pipelined socket echo between two processes does.</summary>
/// <param name="FrameSize">Bytes of one frame.</param>
/// <param name="Window">Frames in flight.</param>
/// <param name="EchoesPerSecond">Frames there and back per second, over the runs.</param>
/// <param name="MedianMicroseconds">Median time there and back, over the runs.</param>
public sealed record SocketResult(int FrameSize, int Window, Spread EchoesPerSecond, Spread MedianMicroseconds);
