using System.ComponentModel;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace ActOp.Mesh.Transports.Tcp;

/// <summary>
/// Edge-triggered epoll: each stream is registered once for everything, so that neither reading nor a full send buffer costs a second
/// system call.
/// <para>Threads: the slot table is guarded by its gate; the event buffer belongs to the waiting thread. A token holds the slot and its
/// generation, so that an event of a removed stream is recognised.</para>
/// </summary>
internal sealed unsafe class EpollReadiness : Readiness
{
    private const ulong WakeToken = ulong.MaxValue;

    private readonly int _epoll;
    private readonly int _wake;
    private readonly Lock _gate = new();
    private readonly Stack<int> _free = [];
    private LinuxTcpStream?[] _streams = new LinuxTcpStream?[16];
    private uint[] _generations = new uint[16];
    private int _slots;
    private byte[] _events = [];
    private bool _disposed;

    public EpollReadiness()
    {
        _epoll = Check(Linux.EpollCreate(Linux.CloseOnExec));
        _wake = Check(Linux.EventDescriptor(0, Linux.CloseOnExec | Linux.NonBlocking));
        Control(Linux.Add, _wake, Linux.In | Linux.EdgeTriggered, WakeToken);
    }

    public override void Add(ByteStream stream)
    {
        var tcp = (LinuxTcpStream)stream;
        lock (_gate)
        {
            Invariant.Holds(tcp.Slot < 0 && !_disposed);
            tcp.Slot = TakeSlot();
            Invariant.Holds(_streams[tcp.Slot] is null);
            _streams[tcp.Slot] = tcp;
            var token = ((ulong)_generations[tcp.Slot] << 32) | (uint)tcp.Slot;
            Control(Linux.Add, tcp.Descriptor, Linux.In | Linux.Out | Linux.ReadHangup | Linux.EdgeTriggered, token);
        }
    }

    public override void Remove(ByteStream stream)
    {
        var tcp = (LinuxTcpStream)stream;
        lock (_gate)
        {
            Control(Linux.Remove, tcp.Descriptor, 0, 0);
            Invariant.Holds(_streams[tcp.Slot] == tcp);
            _streams[tcp.Slot] = null;
            _generations[tcp.Slot]++;
            _free.Push(tcp.Slot);
            Invariant.Holds(_free.Count <= _slots);
            tcp.Slot = -1;
        }
    }

    public override bool CanLook => true;

    public override int Wait(Span<Ready> reports, int timeoutMs) => Ask(reports, timeoutMs, out _);

    public override bool TryLook(Span<Ready> reports, out int found)
    {
        found = Ask(reports, 0, out var events);
        if (events > 0)
            return true;

        _ = Linux.Yield();
        return false;
    }

    public override void Wake()
    {
        var one = 1UL;
        lock (_gate)
        {
            // After disposal the descriptor's number may belong to something else.
            if (!_disposed)
                _ = Linux.Write(_wake, (byte*)&one, sizeof(ulong));
        }
    }

    public override void Dispose()
    {
        lock (_gate)
        {
            if (!_disposed)
            {
                _disposed = true;
                _ = Linux.Close(_epoll);
                _ = Linux.Close(_wake);
            }
        }
    }

    /// <param name="reports">Filled from the start.</param>
    /// <param name="timeoutMs">As in <see cref="Wait"/>.</param>
    /// <param name="events">What there was, wake-ups and stale reports included.</param>
    private int Ask(Span<Ready> reports, int timeoutMs, out int events)
    {
        if (_events.Length < reports.Length * Linux.EventBytes)
            _events = GC.AllocateUninitializedArray<byte>(reports.Length * Linux.EventBytes, pinned: true);

        fixed (byte* buffer = _events)
        {
            events = Linux.EpollWait(_epoll, buffer, reports.Length, timeoutMs);
            if (events < 0)
                return Marshal.GetLastPInvokeError() == Linux.Interrupted ? 0 : throw new Win32Exception();

            if (events == 0)
                return 0;

            lock (_gate)
                return Translate(buffer, events, reports);
        }
    }

    private int Translate(byte* events, int count, Span<Ready> reports)
    {
        Invariant.Held(_gate);
        Invariant.Holds(count <= reports.Length);
        var found = 0;
        for (var at = events; count > 0; count--, at += Linux.EventBytes)
        {
            var mask = Unsafe.ReadUnaligned<uint>(at);
            var token = Unsafe.ReadUnaligned<ulong>(at + Linux.EventTokenAt);
            // The wake descriptor is edge-triggered and never read: each write makes one event, and its count cannot overflow in practice
            // (2^64).
            var slot = (uint)token;
            if (token != WakeToken && _streams[slot] is { } stream && _generations[slot] == (uint)(token >> 32))
                reports[found++] = new Ready(stream, Kinds(mask));
        }

        return found;
    }

    private static ReadyKinds Kinds(uint mask)
        => ((mask & Linux.In) != 0 ? ReadyKinds.Read : 0)
        | ((mask & Linux.Out) != 0 ? ReadyKinds.Write : 0)
        | ((mask & (Linux.ReadHangup | Linux.Hangup | Linux.Error)) != 0 ? ReadyKinds.Hangup : 0);

    private int TakeSlot()
    {
        Invariant.Held(_gate);
        if (_free.TryPop(out var slot))
            return slot;

        if (_slots == _streams.Length)
        {
            Array.Resize(ref _streams, 2 * _slots);
            Array.Resize(ref _generations, 2 * _slots);
        }

        return _slots++;
    }

    private void Control(int operation, int descriptor, uint mask, ulong token)
    {
        var bytes = stackalloc byte[16];
        Unsafe.WriteUnaligned(bytes, mask);
        Unsafe.WriteUnaligned(bytes + Linux.EventTokenAt, token);
        Check(Linux.EpollControl(_epoll, operation, descriptor, bytes));
    }

    private static int Check(int result) => result >= 0 ? result : throw new Win32Exception(Marshal.GetLastPInvokeError());
}
