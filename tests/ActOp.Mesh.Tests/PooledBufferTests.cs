using System.Runtime.CompilerServices;

namespace ActOp.Mesh.Tests;

public class PooledBufferTests
{
    [Theory]
    [InlineData(PooledBuffer.MostShared + 1)]
    [InlineData(8 << 20)]
    public void A_large_buffer_that_was_given_back_is_not_kept_from_the_collector(int length)
    {
        var given = GiveBack(length);
        GC.Collect();
        Assert.False(given.TryGetTarget(out _));
    }

    [Fact]
    public void A_large_buffer_that_is_still_there_is_used_again_by_one_only()
    {
        byte[] first = [], second = [], third = [];
        PooledBuffer.Grow(ref first, 0, 3 << 20);
        var array = first;
        PooledBuffer.GiveBack(ref first);
        Assert.Empty(first);
        PooledBuffer.Grow(ref second, 0, 3 << 20);
        PooledBuffer.Grow(ref third, 0, 3 << 20);
        Assert.Same(array, second);
        Assert.NotSame(second, third);
        PooledBuffer.GiveBack(ref second);
        PooledBuffer.GiveBack(ref third);
    }

    /// <summary>What waits is limited in bytes that were sent; buffers of twice that would make it another limit.</summary>
    [Theory]
    [InlineData(PooledBuffer.MostShared + 1)]
    [InlineData((4 << 20) + 60)]
    [InlineData((8 << 20) - 1)]
    [InlineData(8 << 20)]
    public void A_large_buffer_is_at_most_an_eighth_longer_than_what_it_is_for(int need)
    {
        byte[] buffer = [];
        PooledBuffer.Grow(ref buffer, 0, need);
        Assert.InRange(buffer.Length, need, need + (need / 8));
        PooledBuffer.GiveBack(ref buffer);
    }

    [Fact]
    public void A_grown_buffer_has_the_content_of_the_one_before()
    {
        byte[] buffer = [];
        for (var (used, next) = (0, 0); used < 5 << 20; used = next)
        {
            next = used + 700_001;
            if (buffer.Length < next)
                PooledBuffer.Grow(ref buffer, used, next);
            buffer.AsSpan(used, next - used).Fill((byte)(next / 700_001));
        }

        Assert.Equal(1, buffer[0]);
        Assert.Equal(3, buffer[(2 * 700_001) + 5]);
        Assert.Equal(7, buffer[(7 * 700_001) - 1]);
        PooledBuffer.GiveBack(ref buffer);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference<byte[]> GiveBack(int length)
    {
        byte[] buffer = [];
        PooledBuffer.Grow(ref buffer, 0, length);
        var given = new WeakReference<byte[]>(buffer);
        PooledBuffer.GiveBack(ref buffer);
        return given;
    }
}
