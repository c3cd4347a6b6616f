using System.Net;

namespace ActOp.Mesh.Transports;

/// <summary>
/// One full-duplex, non-blocking stream of bytes.
/// <para>Threads: at most one receiver and one sender at a time (the link's poller and its flush gate see to that); <see cref="Dispose"/>
/// only while neither runs.</para>
/// <para>Readiness is edge-triggered: after a receive that returned less than asked for, or a send that returned <see cref="WouldBlock"/>,
/// the next change is reported by the <see cref="Readiness"/> that the stream was added to.</para>
/// </summary>
public abstract class ByteStream : IDisposable
{
    /// <summary>Result of receive and send: nothing to be had now.</summary>
    public const int WouldBlock = -1;

    /// <summary>Result of receive and send: the stream is broken; for a dialled stream that never received: the dial failed.</summary>
    public const int Failed = -2;

    /// <summary>Result of receive on a dialled stream: the host is there and says that nobody listens at the endpoint.</summary>
    public const int Refused = -3;

    /// <summary>The other end, for logs; null if it was never known.</summary>
    public abstract EndPoint? RemoteEndPoint { get; }

    /// <summary>
    /// Whether an accepted stream has one of the last descriptors of the process, which are kept for files, dials and connections that have
    /// shown who they are: somebody must go.
    /// </summary>
    public virtual bool TakesReserve => false;

    /// <summary>The object that the readiness report leads to (the mesh keeps its link here).</summary>
    internal object? Owner { get; set; }

    /// <summary>
    /// Reads what is there: bytes read, 0 when the other end has finished, <see cref="WouldBlock"/>, <see cref="Failed"/> or
    /// <see cref="Refused"/>.
    /// </summary>
    public abstract int Receive(Span<byte> buffer);

    /// <summary>Hands over as much as fits: bytes taken (1 or more), <see cref="WouldBlock"/> or <see cref="Failed"/>.</summary>
    public abstract int Send(ReadOnlySpan<byte> bytes);

    /// <summary>Tells the other end that no more bytes will come; receiving goes on.</summary>
    public abstract void FinishSending();

    /// <summary>Closes the stream; it must have been removed from its readiness set.</summary>
    public abstract void Dispose();
}
