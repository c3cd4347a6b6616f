using Orleans.Serialization.Invocation;

namespace ActOp.Calls.Tests.Requests;

/// <summary>Responses, and the sources that applications wait for them with.</summary>
public sealed class ResponseTests
{
    [Fact]
    public async Task A_typed_source_takes_the_result_and_disposes_the_response()
    {
        var response = Assert.IsType<Response<int[]>>(Response.FromResult(new[] { 1, 2 }));
        Assert.Equal(typeof(int[]), response.GetSimpleResultType());
        var source = new ResponseCompletionSource<int[]>();
        source.Complete((Response)response);
        Assert.Null(response.TypedResult);
        Assert.Equal([1, 2], (await source.AsValueTask())!.ToList());
        source.Reset();
        source.Complete((Response<int[]>)Response.FromResult(new[] { 3 }));
        Assert.Equal([3], (await source.AsValueTask())!.ToList());
        source.Reset();
        source.Complete();
        Assert.Null(await source.AsValueTask());
    }

    [Fact]
    public async Task A_typed_source_fails_with_the_exception_or_if_the_result_is_of_another_type()
    {
        var failed = new ResponseCompletionSource<int>();
        failed.Complete(Response.FromException(new FormatException("x")));
        await Assert.ThrowsAsync<FormatException>(() => failed.AsVoidValueTask().AsTask());
        var odd = new ResponseCompletionSource<int>();
        odd.Complete(Response.FromResult("text"));
        await Assert.ThrowsAsync<InvalidCastException>(() => odd.AsValueTask().AsTask());
        var missing = new ResponseCompletionSource<int>();
        missing.Complete(Response.Completed);
        Assert.Equal(0, await missing.AsValueTask());
    }

    [Fact]
    public async Task A_source_of_responses_passes_them_on()
    {
        var source = new ResponseCompletionSource();
        var awaited = source.AsValueTask().AsTask();
        var response = Response.FromResult(7);
        source.Complete(response);
        Assert.Same(response, await awaited);
        Assert.Equal(7, response.GetResult<int>());
        source.Reset();
        source.Complete(response);
        await source.AsVoidValueTask();
        Assert.Equal(0, response.Result);
        source.Reset();
        source.Complete(Response.FromException(new FormatException("x")));
        await Assert.ThrowsAsync<FormatException>(() => source.AsValueTask().AsTask());
    }

    [Fact]
    public void A_failed_response_is_thrown()
    {
        Response.Completed.ThrowIfExceptionResponse();
        Assert.Null(Response.Completed.GetResult<string>());
        Assert.Throws<FormatException>(() => Response.FromException(new FormatException("x")).ThrowIfExceptionResponse());
    }
}
