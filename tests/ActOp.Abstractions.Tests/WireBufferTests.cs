using System.Runtime.CompilerServices;
using ActOp.Wire;

namespace ActOp.Abstractions.Tests;

public class WireBufferTests
{
    private const int Large = 4 << 20;

    [Fact]
    public void A_large_message_is_written_into_the_array_of_the_last_one()
    {
        var buffer = new WireBuffer();
        var first = Write(buffer, Large, 1);
        buffer.Clear();
        Assert.NotSame(first, buffer.Array);
        // What is there already comes along.
        var second = Write(buffer, 100, 2);
        Assert.NotSame(first, second);
        Assert.Same(first, Write(buffer, Large - 100, 3));
        Assert.Equal(Large, buffer.Length);
        Assert.Equal((2, 3), (buffer.Written[99], buffer.Written[100]));
        GC.KeepAlive(first);
    }

    [Fact]
    public void A_message_that_is_larger_than_the_last_one_has_its_own_array()
    {
        var buffer = new WireBuffer();
        var first = Write(buffer, Large, 1);
        buffer.Clear();
        Assert.NotSame(first, Write(buffer, Large + 1, 2));
        Assert.Equal(Large + 1, buffer.Length);
    }

    [Fact]
    public void The_array_of_a_large_message_is_not_kept_from_the_collector()
    {
        var buffer = new WireBuffer();
        var array = WriteAndClear(buffer);
        GC.Collect();
        Assert.False(array.TryGetTarget(out _));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference<byte[]> WriteAndClear(WireBuffer buffer)
    {
        var array = new WeakReference<byte[]>(Write(buffer, Large, 1));
        buffer.Clear();
        return array;
    }

    private static byte[] Write(WireBuffer buffer, int count, byte value)
    {
        if (buffer.Array.Length - buffer.Length < count)
            buffer.Grow(count);
        buffer.Array.AsSpan(buffer.Length, count).Fill(value);
        buffer.Length += count;
        return buffer.Array;
    }
}
