using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;
using Orleans.Runtime.Messaging;

namespace ActOp.Hosting.Tests.Middleware;

/// <summary>The frames that middleware may use, and what is refused of them.</summary>
public class ConnectionFrameTests
{
    private readonly Pipe _pipe = new();
    private readonly DefaultConnectionContext _connection;

    public ConnectionFrameTests() => _connection = new DefaultConnectionContext("id")
    {
        Transport = new Both(_pipe.Reader, _pipe.Writer),
    };

    [Fact]
    public async Task Frames_are_read_as_they_were_written_one_after_the_other()
    {
        await ConnectionFrameHelper.WriteFrameAsync(_connection, 1, [1, 2, 3], default);
        await ConnectionFrameHelper.WriteFrameAsync(_connection, 2, static writer => writer.Write("text"u8), default);
        await ConnectionFrameHelper.WriteFrameAsync(_connection, 3, [], default);
        await _pipe.Writer.CompleteAsync();
        await ReadsAsync(1, [1, 2, 3]);
        await ReadsAsync(2, [.. "text"u8]);
        await ReadsAsync(3, []);
    }

    [Fact]
    public async Task A_frame_is_its_length_its_kind_and_its_payload()
    {
        await ConnectionFrameHelper.WriteFrameAsync(_connection, 9, [7, 8], default);
        var read = await _pipe.Reader.ReadAsync(TestContext.Current.CancellationToken);
        Assert.Equal([3, 0, 0, 0, 9, 7, 8], read.Buffer.ToArray());
    }

    [Fact]
    public async Task A_frame_longer_than_the_pipe_is_consumed_while_it_arrives()
    {
        var small = new Pipe(new PipeOptions(pauseWriterThreshold: 64, resumeWriterThreshold: 32, useSynchronizationContext: false));
        _connection.Transport = new Both(small.Reader, small.Writer);
        var payload = new byte[10_000];
        new Random(1).NextBytes(payload);
        byte[] frame = [0, 0, 0, 0, 4, .. payload];
        BinaryPrimitives.WriteInt32LittleEndian(frame, payload.Length + 1);
        async Task WriteAsync()
        {
            foreach (var piece in frame.Chunk(50))
                await small.Writer.WriteAsync(piece);
        }

        var writing = WriteAsync();
        await ReadsAsync(4, payload);
        await writing;
    }

    [Theory, InlineData(0), InlineData(-1), InlineData(11)]
    public async Task A_length_that_is_not_valid_is_refused_without_its_frame(int length)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, length);
        await _pipe.Writer.WriteAsync(bytes, TestContext.Current.CancellationToken);
        await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await ConnectionFrameHelper.ReadFrameAsync(_connection, default, maxFrameLength: 10));
    }

    [Theory, InlineData(0), InlineData(3), InlineData(4), InlineData(6)]
    public async Task An_end_within_a_frame_is_an_error(int bytes)
    {
        byte[] frame = [3, 0, 0, 0, 1, 5, 6];
        await _pipe.Writer.WriteAsync(frame.AsMemory(0, bytes), TestContext.Current.CancellationToken);
        await _pipe.Writer.CompleteAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await ConnectionFrameHelper.ReadFrameAsync(_connection, default));
    }

    [Fact]
    public async Task Nothing_is_sent_to_nobody_or_by_a_writer_that_throws()
    {
        await Assert.ThrowsAsync<InvalidDataException>(async () => await ConnectionFrameHelper.WriteFrameAsync(
            _connection, 1, static _ => throw new InvalidDataException(), default));
        Assert.False(_pipe.Reader.TryRead(out _));
        await _pipe.Reader.CompleteAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(
            async () => await ConnectionFrameHelper.WriteFrameAsync(_connection, 1, [1], default));
    }

    [Fact]
    public void Texts_are_read_as_they_were_written_and_bad_ones_are_refused()
    {
        var writer = new ArrayBufferWriter<byte>();
        string[] texts = ["alpha", "", "größer"];
        foreach (var text in texts)
            ConnectionFrameHelper.WriteLengthPrefixedString(writer, text);
        var (data, offset) = (writer.WrittenSpan.ToArray(), 0);
        Assert.All(texts, text => Assert.Equal(text, ConnectionFrameHelper.ReadLengthPrefixedString(data, ref offset)));
        Assert.Equal(data.Length, offset);
        byte[][] bad = [[1, 2], [255, 255, 255, 127], [255, 255, 255, 255], [5, 0, 0, 0, 1]];
        Assert.All(bad, static bytes => Assert.Throws<InvalidOperationException>(() => Read(bytes, 0)));
        Assert.Throws<InvalidOperationException>(static () => Read([0, 0, 0, 0], -1));
        Assert.Throws<InvalidOperationException>(static () => Read([], int.MaxValue));
    }

    private static string Read(byte[] data, int offset) => ConnectionFrameHelper.ReadLengthPrefixedString(data, ref offset);

    private async Task ReadsAsync(byte kind, byte[] payload)
    {
        var frame = await ConnectionFrameHelper.ReadFrameAsync(_connection, TestContext.Current.CancellationToken);
        Assert.Equal(kind, frame.FrameType);
        Assert.Equal(payload, frame.Payload);
    }

    private sealed record Both(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
