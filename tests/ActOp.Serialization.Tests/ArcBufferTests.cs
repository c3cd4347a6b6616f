using Orleans.Serialization.Buffers;

namespace ActOp.Serialization.Tests;

public class ArcBufferTests
{
    [Fact]
    public void A_reader_advances_over_several_pages_at_once()
    {
        byte[] bytes = [.. Enumerable.Range(0, 300_000).Select(static index => (byte)(index % 251))];
        using var buffer = new ArcBufferWriter();
        for (var at = 0; at < bytes.Length; at += 1000)
            buffer.Write(bytes.AsSpan(at, 1000));
        Assert.Equal(bytes.Length, buffer.Length);
        buffer.AdvanceReader(200_001);
        var rest = new byte[bytes.Length - 200_001];
        buffer.Peek(rest);
        Assert.Equal(bytes[200_001..], rest);
        buffer.AdvanceReader(rest.Length);
        Assert.Equal(0, buffer.Length);
    }
}
