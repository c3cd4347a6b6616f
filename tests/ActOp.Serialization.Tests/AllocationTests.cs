using ActOp.Wire;

namespace ActOp.Serialization.Tests;

public class AllocationTests
{
    private static readonly Ten Sample = new(1, 2, 3, true, "text", Guid.Empty, DateTime.MinValue, 4, 5, Color.Blue) { Mutable = [1] };

    [Fact]
    public void Writing_a_record_allocates_nothing_and_reading_only_the_record()
    {
        var codec = Codec<Ten>.Default;
        var buffer = new WireBuffer();
        var session = new WireSession(null);
        var context = new CopyContext();
        for (var i = 0; i < 3; i++)
            Round(codec, buffer, session, context, out _, out _, out _);
        Round(codec, buffer, session, context, out var written, out var read, out var copied);
        Assert.Equal(0, written);
        Assert.InRange(read, 1, 200);
        Assert.InRange(copied, 1, 160);
    }

    private static void Round(
        Codec<Ten> codec, WireBuffer buffer, WireSession session, CopyContext context, out long written, out long read, out long copied)
    {
        var start = GC.GetAllocatedBytesForCurrentThread();
        buffer.Clear();
        session.Reset();
        var writer = new WireWriter(buffer, session);
        codec.Write(ref writer, Sample);
        writer.Commit();
        var wrote = GC.GetAllocatedBytesForCurrentThread();
        session.Reset();
        var reader = new WireReader(buffer.Written, session);
        codec.Read(ref reader);
        var finished = GC.GetAllocatedBytesForCurrentThread();
        context.Reset();
        codec.Copy(Sample, context);
        copied = GC.GetAllocatedBytesForCurrentThread() - finished;
        read = finished - wrote;
        written = wrote - start;
    }
}
