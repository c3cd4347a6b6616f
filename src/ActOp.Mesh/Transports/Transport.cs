using System.Net;
using System.Net.Security;

namespace ActOp.Mesh.Transports;

/// <summary>
/// Creates byte streams. Links, frames, handshakes and sessions use the same code for every transport.
/// All members may be called from any thread.
/// </summary>
public abstract class Transport
{
    /// <summary>
    /// Starts a connection without waiting for it. The stream reports readiness when it is connected or has failed; a failure shows as the
    /// result of <see cref="ByteStream.Receive"/>. Throws when the process cannot make a stream: no descriptor is left, or the endpoint is
    /// of a kind that the transport does not know.
    /// </summary>
    public abstract ByteStream Dial(EndPoint endPoint);

    /// <summary>Accepts connections at <paramref name="endPoint"/> until disposed; <paramref name="accepted"/> must not block.</summary>
    /// <param name="endPoint">The endpoint; port 0 selects a free port.</param>
    /// <param name="accepted">Takes each connection and owns it from then on, on any thread, one at a time.</param>
    /// <param name="failed">Called for each failure to accept; accepting continues after a pause.</param>
    /// <exception cref="System.Net.Sockets.SocketException">The endpoint cannot be bound.</exception>
    public abstract Listener Listen(EndPoint endPoint, Action<ByteStream> accepted, Action<Exception> failed);

    /// <summary>
    /// Whether the transport itself encrypts the connections that it accepts at an endpoint, and decides whom it lets in. Default false:
    /// any process that reaches the endpoint can connect.
    /// </summary>
    /// <param name="endPoint">The endpoint as given to <see cref="Listen"/>.</param>
    public virtual bool IsProtected(EndPoint endPoint) => false;

    /// <summary>A new set of streams that one thread can wait on.</summary>
    public abstract Readiness CreateReadiness();
}

/// <summary>An endpoint where connections are accepted; dispose to stop.</summary>
public abstract class Listener : IDisposable
{
    /// <summary>The endpoint in use, with the port that was selected.</summary>
    public abstract EndPoint EndPoint { get; }

    /// <summary>Stops accepting; accepted connections stay.</summary>
    public abstract void Dispose();
}

/// <summary>
/// One full-duplex, non-blocking stream of bytes.
/// <para>Threads: at most one receiver and one sender at a time (ensured by the link's poller and its flush gate); <see cref="Dispose"/>
/// only while neither runs.</para>
/// <para>Readiness is edge-triggered: after a receive that returned less than asked for, or a send that returned <see cref="WouldBlock"/>,
/// the next change is reported by the <see cref="Readiness"/> that the stream was added to.</para>
/// </summary>
public abstract class ByteStream : IDisposable
{
    /// <summary>Result of receive and send: the call would block.</summary>
    public const int WouldBlock = -1;

    /// <summary>Result of receive and send: the stream is broken; for a dialled stream that never received: the dial failed.</summary>
    public const int Failed = -2;

    /// <summary>Result of receive on a dialled stream: the host has refused the connection.</summary>
    public const int Refused = -3;

    /// <summary>The other end, for logs; null if it was never known.</summary>
    public abstract EndPoint? RemoteEndPoint { get; }

    /// <summary>
    /// Whether an accepted stream has one of the last descriptors of the process, which are reserved for files, dials and connections with
    /// a known peer: another connection must be closed.
    /// </summary>
    public virtual bool TakesReserve => false;

    /// <summary>
    /// Whether the other end has sent bytes that the stream itself consumes (the handshake of TLS), so that it is not silent.
    /// </summary>
    public virtual bool HasHeard => false;

    /// <summary>
    /// Why the two ends cannot talk over this stream, if the stream knows it; null otherwise. Known when the stream has failed, at the
    /// latest after <see cref="Dispose"/>.
    /// </summary>
    internal virtual Refusal? Refusal => null;

    /// <summary>This end, if the stream knows it.</summary>
    internal virtual EndPoint? LocalEndPoint => null;

    /// <summary>
    /// Whether the stream is connected, so that bytes of a user can pass. Null: it is when the readiness set first reports room.
    /// </summary>
    internal virtual bool? IsConnected => null;

    /// <summary>What is known about the other end by TLS, once the stream is connected; null without TLS.</summary>
    internal virtual SslStream? Tls => null;

    /// <summary>
    /// Whether bytes that were taken may still be in this process after <see cref="FinishSending"/>. Then the stream must not be closed
    /// in order before it has reported its end: a receive that returns 0.
    /// </summary>
    internal virtual bool EndsLater => false;

    /// <summary>The object that the readiness report leads to (the mesh keeps its link here).</summary>
    internal object? Owner { get; set; }

    /// <summary>
    /// Reads the available bytes: the number of bytes read, 0 when the other end has finished, <see cref="WouldBlock"/>, <see
    /// cref="Failed"/> or <see cref="Refused"/>.
    /// </summary>
    public abstract int Receive(Span<byte> buffer);

    /// <summary>Sends as much as fits: the number of bytes taken (1 or more), <see cref="WouldBlock"/> or <see cref="Failed"/>.</summary>
    public abstract int Send(ReadOnlySpan<byte> bytes);

    /// <summary>Tells the other end that no more bytes will follow; receiving continues.</summary>
    public abstract void FinishSending();

    /// <summary>Closes the stream; it must have been removed from its readiness set.</summary>
    public abstract void Dispose();
}

/// <summary>Why two ends cannot talk over a stream: a certificate, or an end without TLS.</summary>
/// <param name="Why">The cause, for logs.</param>
/// <param name="IsCertain">False if the network may have been the cause.</param>
internal sealed record Refusal(string Why, bool IsCertain);

/// <summary>
/// A set of streams that one thread waits on (edge-triggered).
/// <para>Threads: <see cref="Wait"/> by one thread at a time; the rest by any thread. A report may be stale: it may name a stream that was
/// removed while the wait ended.</para>
/// </summary>
public abstract class Readiness : IDisposable
{
    /// <summary>Adds a stream; what it is ready for already is reported too.</summary>
    public abstract void Add(ByteStream stream);

    /// <summary>Removes a stream that was added.</summary>
    public abstract void Remove(ByteStream stream);

    /// <summary>Waits until a stream is ready, <see cref="Wake"/> is called or the time is over. Returns the number of reports.</summary>
    /// <param name="reports">Filled from the start.</param>
    /// <param name="timeoutMs">Milliseconds; 0 does not wait, -1 waits without limit.</param>
    public abstract int Wait(Span<Ready> reports, int timeoutMs);

    /// <summary>
    /// Whether <see cref="TryLook"/> is implemented and cheap, so that a waiting thread may spin before it blocks. Default false.
    /// </summary>
    public virtual bool CanLook => false;

    /// <summary>
    /// Polls without waiting. False when there was nothing, not even a <see cref="Wake"/>; it has then yielded the processor to other
    /// threads.
    /// </summary>
    /// <param name="reports">Filled from the start.</param>
    /// <param name="found">The number of reports.</param>
    public virtual bool TryLook(Span<Ready> reports, out int found)
    {
        found = 0;
        return false;
    }

    /// <summary>Ends the current wait, or else the next one.</summary>
    public abstract void Wake();

    /// <summary>Releases the set; no wait may be in progress.</summary>
    public abstract void Dispose();
}

/// <summary>One report of a <see cref="Readiness"/> set.</summary>
/// <param name="Stream">The stream.</param>
/// <param name="Kinds">What it is ready for.</param>
public readonly record struct Ready(ByteStream Stream, ReadyKinds Kinds);

/// <summary>What a stream is ready for.</summary>
[Flags]
public enum ReadyKinds
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>A receive will not block.</summary>
    Read = 1,

    /// <summary>A send will not block.</summary>
    Write = 2,

    /// <summary>The other end has finished or the stream is broken: read to the end.</summary>
    Hangup = 4,
}
